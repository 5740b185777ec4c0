//! Names and their source forms, as GNU's tools print them.

use alloc::string::String;
use alloc::{format, vec};

use super::options::{Grammar, Spelling};
use crate::MAX_LENGTH;

fn demangle(name: &str) -> Option<String> {
    super::demangle(name.as_bytes(), MAX_LENGTH, Spelling::Cpp, Grammar::Gnu)
        .ok()
        .map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn names() {
    for (mangled, readable) in NAMES {
        assert_eq!(demangle(mangled).as_deref(), Some(*readable), "{mangled}");
    }
}

const NAMES: &[(&str, &str)] = &[
    ("_Z4mainv", "main()"),
    (
        "_ZSt11__addressofIZSt9call_onceIMSt6threadFvvEJPS1_EEvRSt9once_flagOT_DpOT0_EUlvE_EPS7_RS7_",
        "std::call_once<void (std::thread::*)(), std::thread*>(std::once_flag&, void (std::thread::*&&)(), std::thread*&&)::{lambda()#1}* std::__addressof<std::call_once<void (std::thread::*)(), std::thread*>(std::once_flag&, void (std::thread::*&&)(), std::thread*&&)::{lambda()#1}>(void (std::thread::*&)())",
    ),
    (
        "_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3std9is_signedIT_EE5valueENS_8OptionalIS2_EEE4typeES2_S2_",
        "std::enable_if<std::is_signed<int>::value, llvm::Optional<int> >::type llvm::checkedAdd<int>(int, int)",
    ),
    (
        "_Z10multiple_pILj1EljEN10if_nonpolyIT1_bXsr15poly_int_traitsIS1_E7is_polyEE4typeERK12poly_int_podIXT_ET0_ES1_",
        "if_nonpoly<unsigned int, bool, poly_int_traits<unsigned int>::is_poly>::type multiple_p<1u, long, unsigned int>(poly_int_pod<1u, long> const&, unsigned int)",
    ),
    (
        "_ZNK11__sanitizer16Addr2LineProcess7GetArgVEPKcRA6_S2_",
        "__sanitizer::Addr2LineProcess::GetArgV(char const*, char const* (&) [6]) const",
    ),
    ("_ZGRL10AllVectors_", "reference temporary #0 for AllVectors"),
    (
        "_ZSt9use_facetIKSt5ctypeIcEERKT_RKSt6locale",
        "std::ctype<char> const& std::use_facet<std::ctype<char> const>(std::locale const&)",
    ),
    (
        "_ZZ1yvENKUlDpT_E4_clIJimEEEDaS0_",
        "auto y()::{lambda((auto:1)...)#6}::operator()<int, unsigned long>(int, unsigned long) const",
    ),
    ("_ZGTtNSt14overflow_errorD0Ev", "transaction clone for std::overflow_error::~overflow_error()"),
    (
        "_ZGVNSt9money_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEE2idE",
        "guard variable for std::money_put<char, std::ostreambuf_iterator<char, std::char_traits<char> > >::id",
    ),
    (
        "_ZL20check_exception_specP16lsda_header_infoPKSt9type_infoPvl",
        "check_exception_spec(lsda_header_info*, std::type_info const*, void*, long)",
    ),
    (
        "_ZN11__gnu_debug30_Safe_unordered_container_base7_M_swapERS0_",
        "__gnu_debug::_Safe_unordered_container_base::_M_swap(__gnu_debug::_Safe_unordered_container_base&)",
    ),
    ("_ZN1m1SD5Ev", "m::S::~S()"),
    ("_ZN1m1SaSERKS0_", "m::S::operator=(m::S const&)"),
    ("_ZN1m1SdlEPv", "m::S::operator delete(void*)"),
    ("_ZN1m1SnwEm", "m::S::operator new(unsigned long)"),
    ("_ZN1m2AnUt_2hiEv", "m::An::{unnamed type#1}::hi()"),
    ("_ZN1m2auILDnEEEvv", "void m::au<decltype(nullptr)>()"),
    ("_ZN1m2auILb1EEEvv", "void m::au<true>()"),
    ("_ZN1m2enILNS_1EE1EEEvv", "void m::en<(m::E)1>()"),
    ("_ZN1m2fpEPFicERA3_iPKPVKi", "m::fp(int (*)(char), int (&) [3], int const volatile* const*)"),
    ("_ZN1m2frENS_5OuterIiEE", "m::fr(m::Outer<int>)"),
    ("_ZN1m2gfIXadL_ZNKS_1S1fEdEEEEiRS1_", "int m::gf<&(m::S::f(double) const)>(m::S&)"),
    ("_ZN1m2gmIXadL_ZNS_1S1aEEEEEiRS1_", "int m::gm<&m::S::a>(m::S&)"),
    (
        "_ZN1m2mkINS_1PEJidPKcEEET_IJDpT0_EES6_",
        "m::P<int, double, char const*> m::mk<m::P, int, double, char const*>(int, double, char const*)",
    ),
    ("_ZN1m2nfEPDoFvvE", "m::nf(void (*)() noexcept)"),
    ("_ZN1m2pkIJEEEvDpOT_", "void m::pk<>()"),
    ("_ZN1m2pkIJiRA2_KcfEEEvDpOT_", "void m::pk<int, char const (&) [2], float>(int&&, char const (&) [2], float&&)"),
    ("_ZN1m2szIdLi0EEEiT_", "int m::sz<double, 0>(double)"),
    ("_ZN1m2v22tgB3newEv", "m::v2::tg[abi:new]()"),
    ("_ZN1m3litILy5ELsn2ELln7EEEvv", "void m::lit<5ull, (short)-2, -7l>()"),
    ("_ZN1m3sumIdEEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) m::sum<double>(double)"),
    (
        "_ZN1m3sumIiJdEEEDTplfp_cl3sumspfp0_EET_DpT0_",
        "decltype ({parm#1}+(sum({parm#2}...))) m::sum<int, double>(int, double)",
    ),
    ("_ZN1m3tfpIPcEEPFT_S2_ES2_", "char* (*m::tfp<char*>(char*))(char*)"),
    ("_ZN1m3vecEDv4_i", "m::vec(int __vector(4))"),
    ("_ZN1m4callIXadL_ZNS_1gEiEEEEii", "int m::call<&m::g>(int)"),
    ("_ZN1m4dfltESt8functionIFiiEE", "m::dflt(std::function<int (int)>)"),
    ("_ZN1m4noexIcEEvT_", "void m::noex<char>(char)"),
    ("_ZN1m5OuterIiE5InnerIcE1fIdEET_icS5_", "double m::Outer<int>::Inner<char>::f<double>(int, char, double)"),
    ("_ZN1m5OuterIiE5InnerIcED5Ev", "m::Outer<int>::Inner<char>::~Inner()"),
    ("_ZN1m6callitIPFvvEEEvT_", "void m::callit<void (*)()>(void (*)())"),
    ("_ZN1m6callitIZ1yvEUlvE_EEvT_", "void m::callit<y()::{lambda()#1}>(y()::{lambda()#1})"),
    ("_ZN1m6outerfIPKcEEvT_", "void m::outerf<char const*>(char const*)"),
    ("_ZN1mli3_kmEe", "m::operator\"\" _km(long double)"),
    (
        "_ZN9__gnu_cxx19__function_requiresINS_26_LessThanComparableConceptIjEEEEvv",
        "void __gnu_cxx::__function_requires<__gnu_cxx::_LessThanComparableConcept<unsigned int> >()",
    ),
    (
        "_ZNK10__cxxabiv117__class_type_info10__do_catchEPKSt9type_infoPPvj",
        "__cxxabiv1::__class_type_info::__do_catch(std::type_info const*, void**, unsigned int) const",
    ),
    ("_ZNKSs7compareEPKc", "std::string::compare(char const*) const"),
    (
        "_ZNKSt13__facet_shims12_GLOBAL__N_113messages_shimIcE6do_getEiiiRKSs",
        "std::__facet_shims::(anonymous namespace)::messages_shim<char>::do_get(int, int, int, std::string const&) const",
    ),
    (
        "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17find_first_not_ofEcm",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::find_first_not_of(char, unsigned long) const",
    ),
    ("_ZNSi8readsomeEPcl", "std::istream::readsome(char*, long)"),
    (
        "_ZNSiC1EPSt15basic_streambufIcSt11char_traitsIcEE",
        "std::basic_istream<char, std::char_traits<char> >::basic_istream(std::basic_streambuf<char, std::char_traits<char> >*)",
    ),
    ("_ZNSolsEf", "std::ostream::operator<<(float)"),
    ("_ZNSs6appendEmc", "std::string::append(unsigned long, char)"),
    (
        "_ZNSt10filesystem12copy_symlinkERKNS_7__cxx114pathES3_RSt10error_code",
        "std::filesystem::copy_symlink(std::filesystem::__cxx11::path const&, std::filesystem::__cxx11::path const&, std::error_code&)",
    ),
    (
        "_ZNSt10filesystem16create_directoryERKNS_4pathERSt10error_code",
        "std::filesystem::create_directory(std::filesystem::path const&, std::error_code&)",
    ),
    ("_ZNSt12strstreambufC2EPalS0_", "std::strstreambuf::strstreambuf(signed char*, long, signed char*)"),
    (
        "_ZNSt13__future_base15_Deferred_stateINSt6thread8_InvokerISt5tupleIJZ1yvEUlvE1_EEEEiED0Ev",
        "std::__future_base::_Deferred_state<std::thread::_Invoker<std::tuple<y()::{lambda()#3}> >, int>::~_Deferred_state()",
    ),
    (
        "_ZNSt13basic_filebufIwSt11char_traitsIwEE6xsputnEPKwl",
        "std::basic_filebuf<wchar_t, std::char_traits<wchar_t> >::xsputn(wchar_t const*, long)",
    ),
    (
        "_ZNSt14basic_ofstreamIwSt11char_traitsIwEEC2EPKcSt13_Ios_Openmode",
        "std::basic_ofstream<wchar_t, std::char_traits<wchar_t> >::basic_ofstream(char const*, std::_Ios_Openmode)",
    ),
    ("_ZNSt14numeric_limitsIDiE10is_boundedE", "std::numeric_limits<char32_t>::is_bounded"),
    ("_ZNSt14numeric_limitsIhE9is_moduloE", "std::numeric_limits<unsigned char>::is_modulo"),
    ("_ZNSt15numpunct_bynameIwEC2EPKcm", "std::numpunct_byname<wchar_t>::numpunct_byname(char const*, unsigned long)"),
    ("_ZNSt3pmr12_GLOBAL__N_111default_resE", "std::pmr::(anonymous namespace)::default_res"),
    (
        "_ZNSt6thread8_InvokerISt5tupleIJZ1yvEUlvE1_EEEclEv",
        "std::thread::_Invoker<std::tuple<y()::{lambda()#3}> >::operator()()",
    ),
    (
        "_ZNSt7__cxx1110moneypunctIcLb0EE24_M_initialize_moneypunctEP15__locale_structPKc.cold",
        "std::__cxx11::moneypunct<char, false>::_M_initialize_moneypunct(__locale_struct*, char const*) [clone .cold]",
    ),
    (
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_Alloc_hiderC2EPcRKS3_",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_Alloc_hider::_Alloc_hider(char*, std::allocator<char> const&)",
    ),
    (
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC5IPcvEET_S7_RKS3_",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string<char*, void>(char*, char*, std::allocator<char> const&)",
    ),
    (
        "_ZNSt7__cxx1112regex_traitsIcE10_RegexMaskC1Eth",
        "std::__cxx11::regex_traits<char>::_RegexMask::_RegexMask(unsigned short, unsigned char)",
    ),
    (
        "_ZNSt8__detail9_CompilerINSt7__cxx1112regex_traitsIcEEE14_M_match_tokenENS_12_ScannerBase7_TokenTE",
        "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_match_token(std::__detail::_ScannerBase::_TokenT)",
    ),
    (
        "_ZNSt8functionIFiiEEC2IN1mUliE_EvEEOT_",
        "std::function<int (int)>::function<m::{lambda(int)#1}, void>(m::{lambda(int)#1}&&)",
    ),
    (
        "_ZNSt8weak_ptrINSt13__future_base13_State_baseV2EED1Ev",
        "std::weak_ptr<std::__future_base::_State_baseV2>::~weak_ptr()",
    ),
    (
        "_ZSt13__invoke_implIiZ1yvEUlvE1_JEET_St14__invoke_otherOT0_DpOT1_",
        "int std::__invoke_impl<int, y()::{lambda()#3}>(std::__invoke_other, y()::{lambda()#3}&&)",
    ),
    (
        "_ZSt16__convert_from_vRKP15__locale_structPciPKcz",
        "std::__convert_from_v(__locale_struct* const&, char*, int, char const*, ...)",
    ),
    (
        "_ZSt7forwardIMSt6threadFvvEEOT_RNSt16remove_referenceIS3_E4typeE",
        "void (std::thread::*&&std::forward<void (std::thread::*)()>(std::remove_reference<void (std::thread::*)()>::type&))()",
    ),
    (
        "_ZSt9use_facetISt10moneypunctIwLb0EEERKT_RKSt6locale",
        "std::moneypunct<wchar_t, false> const& std::use_facet<std::moneypunct<wchar_t, false> >(std::locale const&)",
    ),
    (
        "_ZTCSt13basic_fstreamIwSt11char_traitsIwEE0_St13basic_istreamIwS1_E",
        "construction vtable for std::basic_istream<wchar_t, std::char_traits<wchar_t> >-in-std::basic_fstream<wchar_t, std::char_traits<wchar_t> >",
    ),
    ("_ZTIN10__cxxabiv119__pointer_type_infoE", "typeinfo for __cxxabiv1::__pointer_type_info"),
    ("_ZTIPs", "typeinfo for short*"),
    ("_ZTSNSt7__cxx1117moneypunct_bynameIwLb1EEE", "typeinfo name for std::__cxx11::moneypunct_byname<wchar_t, true>"),
    ("_ZTSSt25__codecvt_utf8_utf16_baseIDsE", "typeinfo name for std::__codecvt_utf8_utf16_base<char16_t>"),
    (
        "_ZTVSt15time_put_bynameIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE",
        "vtable for std::time_put_byname<wchar_t, std::ostreambuf_iterator<wchar_t, std::char_traits<wchar_t> > >",
    ),
    ("_ZTv0_n24_NSdD0Ev", "virtual thunk to std::basic_iostream<char, std::char_traits<char> >::~basic_iostream()"),
    ("_ZnwmSt11align_val_tRKSt9nothrow_t", "operator new(unsigned long, std::align_val_t, std::nothrow_t const&)"),
];

/// In the spelling of Java.
#[test]
fn names_of_java() {
    for (mangled, readable) in [
        ("_ZN4java4lang6String6equalsEPNS0_6ObjectE", "java.lang.String.equals(java.lang.Object)"),
        ("_ZN1aC1EP6JArrayIbE", "a.a(boolean[])"),
        ("_Z1fP6JArrayIPS_IiEE", "f(int[][])"),
        (
            "_Z1fabcdefghijlmnostwxyz",
            "f(signed char, boolean, byte, double, long double, float, __float128, unsigned char, int, unsigned, long, unsigned long, __int128, unsigned __int128, short, unsigned short, char, long, unsigned long long, ...)",
        ),
        ("_Z3fooIiET_S0_", "foo<int>(int)int"),
        ("_Z1fILb1ELi3ELx5ELc65EEvv", "f<true, 3, 5ll, (byte)65>()void"),
        ("_Z1fPFivE", "f(int ()())"),
        ("_Z1fPA3_i", "f(int () [3])"),
        ("_Z1fM1aFivE", "f(int (a::*)())"),
        ("_Z1fPPKc", "f(byte const)"),
        ("_Z1fRi", "f(int&)"),
        ("_Z1fIiEPFT_S0_ES0_", "f<int>(int)int ()(int)"),
        ("_ZZN1a1bIiEET_vE1c", "a.b<int>().c"),
        ("_ZThn8_N1a1bIiEET_v", "non-virtual thunk to a.b<int>()int"),
        ("_Z1fIXadL_Z1gIiEivEEEvv", "f<&(int g<int>())>()void"),
        ("_ZNKSt8functionIFiiEEclEi", "std.function<int (int)>.operator()(int) const"),
        ("_ZN1a1bEiPc.cold", "a.b(int, byte) [clone .cold]"),
    ] {
        let text = super::demangle(mangled.as_bytes(), MAX_LENGTH, Spelling::Java, Grammar::Gnu).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), readable, "{mangled}");
    }
}

#[test]
fn no_names() {
    for name in ["", "_", "_Z", "_Z1", "_Z4ab", "_Zqqq", "_ZN1aE.", "_Z1fv.X", "_Z1fiS9_", "_Z1fT_", "_ZN1aC"] {
        assert_eq!(demangle(name), None, "{name}");
    }
}

#[test]
fn names_made_to_harm() {
    // Deep, and exponentially long.
    assert_eq!(demangle(&format!("_Z1f{}i", "P".repeat(100_000))), None);
    let doubling: String = (0..40).map(|n| format!("1aIS{n}_S{n}_E", n = ["", "0", "1"][n.min(2)])).collect();
    let _ = demangle(&format!("_Z1f1bI{doubling}E"));
    assert_eq!(demangle(&format!("_Z1f{}", "1aI".repeat(50_000))), None);
    for many in ["K", "V", "r", "1aB1b", "1a"] {
        let _ = demangle(&format!("_ZN{}1aEv", many.repeat(100_000)));
        let _ = demangle(&format!("_Z1fPF{}ivE", many.repeat(100_000)));
    }
    // A long chain of abbreviations, each of the one before.
    for wrap in ["P", "K", "N1aS", "RA2_"] {
        let end = if wrap.starts_with('N') { "E" } else { "" };
        let wrap = wrap.trim_end_matches('S');
        let chain: String = (0..20_000_u64).map(|n| format!("{wrap}S{}_{end}", base36(n))).collect();
        let _ = demangle(&format!("_Z1f1bIiEP1x{chain}"));
        let _ = demangle(&format!("_Z1fI{chain}ET_P1x{chain}"));
    }
    // Backtracking at every step.
    let _ = demangle(&format!("_Z{}", "cvT_IL_Z".repeat(2_000)));
    // A parameter that refers to itself.
    assert_eq!(demangle("_Z1fIT_EvT_"), None);
}

fn base36(number: u64) -> String {
    let digit = |number: u64| char::from_digit((number % 36) as u32, 36).unwrap().to_ascii_uppercase();
    let mut digits = vec![digit(number)];
    let mut rest = number / 36;
    while rest > 0 {
        digits.insert(0, digit(rest));
        rest /= 36;
    }
    digits.into_iter().collect()
}
